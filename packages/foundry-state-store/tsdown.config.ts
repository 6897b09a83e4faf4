import { library } from "../../tsdown.base.ts";

export default library(["src/index.ts", "src/emulator.ts", "src/langgraph.ts", "src/cli.ts"]);
