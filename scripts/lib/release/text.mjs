/** A dry release for people to read. */
export function releaseText({ releases, problems, notes }) {
  const total = releases.reduce((sum, { tarball }) => sum + tarball.bytes, 0);
  const lines =
    releases.length === 0
      ? ["Nothing would be published: there is no changeset."]
      : [`${releases.length} packages would be published, ${kilobytes(total)} in all.`];
  for (const release of releases) lines.push("", ...releaseLines(release));
  for (const note of notes) lines.push("", `Note: ${note}.`);
  if (problems.length > 0)
    lines.push("", "This release must not happen:", ...problems.map((problem) => `- ${problem}`));
  return `${lines.join("\n")}\n`;
}

function releaseLines({ name, from, to, bump, changesets, peers, reason, tarball }) {
  return [
    `${name}  ${from} -> ${to}  (${bump})`,
    ...changesets.map(({ id, bump: size, summary }) => `  ${size ?? "none"}, ${id}: ${summary}`),
    ...(reason === undefined ? [] : [`  ${reason}`]),
    ...peers.map((peer) => `  peer ${peer.name} ${peer.from === peer.to ? peer.to : `${peer.from} -> ${peer.to}`}`),
    `  ${tarball.files.length} files, ${kilobytes(tarball.bytes)}: ${tarball.files.join(", ")}`,
  ];
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
