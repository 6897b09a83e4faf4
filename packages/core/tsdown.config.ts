import { library } from "../../tsdown.base.ts";

export default library(["src/index.ts", "src/files.ts", "src/backend.ts", "src/run.ts"], "neutral");
