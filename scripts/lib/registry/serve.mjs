// A child of server.mjs: serves a registry on a free port of the loopback interface until its parent is gone.
import { createRequire } from "node:module";
import { join } from "node:path";

const [tools, configFile] = process.argv.slice(2);
const { runServer } = createRequire(join(tools, "package.json"))("verdaccio");

process.on("disconnect", () => process.exit(0));
const server = await runServer(configFile);
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
