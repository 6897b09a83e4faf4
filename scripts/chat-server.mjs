import "./lib/require-node.mjs";
import { runApp } from "./lib/app.mjs";
import { main } from "./lib/main.mjs";

await main(() => runApp("apps/chat-server"));
