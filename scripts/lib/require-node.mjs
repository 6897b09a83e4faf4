// Imported first by every entry script, so that an old Node gets a sentence instead of a stack trace.
const needed = [20, 19];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `This project needs Node ${needed.join(".")} or newer, and this is Node ${process.versions.node}. ` +
      "Install a newer Node (https://nodejs.org) and run the same command again.\n",
  );
  process.exit(1);
}
