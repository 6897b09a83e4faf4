// The pinned pnpm for people who have none: `npm run pnpm -- changeset`, `npm run pnpm -- install`.
import "./lib/require-node.mjs";
import { main } from "./lib/main.mjs";
import { findPnpm, withPnpm } from "./lib/pnpm.mjs";
import { become } from "./lib/run.mjs";

await main(async () => {
  const pnpm = await findPnpm();
  become(process.execPath, [pnpm.script, ...process.argv.slice(2)], { env: withPnpm(pnpm) });
});
