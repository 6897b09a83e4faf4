import { library } from "../../tsdown.base.ts";

export default library(["src/index.ts", "src/faults.ts", "src/node-test.ts", "src/vitest.ts", "src/cli.ts"]);
