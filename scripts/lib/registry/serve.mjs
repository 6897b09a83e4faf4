// A child of server.mjs: serves a registry on a port of the loopback interface until its parent is gone.
import { createRequire } from "node:module";
import { join } from "node:path";

const [tools, configFile, port] = process.argv.slice(2);
const { runServer } = createRequire(join(tools, "package.json"))("verdaccio");

process.on("disconnect", () => process.exit(0));
// A terminal sends its interrupt to parent and child; the parent decides when this one ends.
process.on("SIGINT", () => {});
const server = await runServer(configFile);
server.once("error", ({ code }) => process.send({ code }, () => process.exit(1)));
server.listen(Number(port), "127.0.0.1", () => process.send({ port: server.address().port }));
