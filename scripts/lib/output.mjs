const noise = [
  /^\s*•/,
  /cache (miss|hit), (executing|replaying)/,
  /^\S*:? ?> /,
  /ELIFECYCLE/,
  /WARNING {2}command finished with error/,
  /ERROR {2}(command|run failed)/,
  /^\S+: ?$/,
];

/** The output of a failed step without the lines in which the task runner talks about itself. */
export function readable(output) {
  const lines = output.split("\n").filter((line) => !noise.some((pattern) => pattern.test(line)));
  return lines.join("\n").trim();
}
