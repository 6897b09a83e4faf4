import { library } from "../../tsdown.base.ts";

export default library(["src/index.ts", "src/cli.ts"]);
