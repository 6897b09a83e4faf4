// Exchanges a directory and a link to a directory outside, as fast as it can, until it is killed.
import { renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";

const [directory = "", outside = ""] = process.argv.slice(2);
const ignore = (work) => {
  try {
    work();
  } catch {
    // The store works in there at the same time.
  }
};
process.stdout.write("exchanging\n");
for (;;) {
  // The store may have made the directory anew meanwhile.
  ignore(() => rmSync(`${directory}.real`, { recursive: true, force: true }));
  ignore(() => renameSync(directory, `${directory}.real`));
  ignore(() => symlinkSync(outside, directory));
  ignore(() => unlinkSync(directory));
  ignore(() => renameSync(`${directory}.real`, directory));
}
