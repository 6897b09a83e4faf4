import { runCommand } from "./run-command.ts";

/** A program and what it is started with. */
export interface Program {
  readonly path: string;
  readonly args: readonly string[];
}

/** A user by number. */
export interface User {
  readonly user: string;
  readonly group: string;
}

/**
 * Hands the folder over and then runs command lines as that user, one after the other. The last one takes the shell's
 * place, so the process keeps its id.
 */
const SCRIPT = `
user=$1 directory=$2 as=
if [ -n "$user" ]; then
  chown "$user" "$directory" && chmod 700 "$directory" || exit 1
  as="setpriv --reuid=\${user%:*} --regid=\${user#*:} --clear-groups"
fi
shift 2
while [ "$#" -gt 1 ]; do
  eval "$as $1" || exit 1
  shift
done
eval "exec $as $1"
`;

/** A user without rights where this process is root's; undefined where it is not. */
export async function otherUser(): Promise<User | undefined> {
  if (process.getuid?.() !== 0) {
    return undefined;
  }
  const [user, group] = await Promise.all(["-u", "-g"].map((flag) => runCommand("id", [flag, "nobody"])));
  return { user: user?.output.trim() ?? "", group: group?.output.trim() ?? "" };
}

/**
 * What `/bin/sh` is called with to run programs that refuse to be root's, one after the other, in a folder that is
 * theirs. Without a user they are this process's own user's.
 */
export function startedAs(user: User | undefined, directory: string, programs: readonly Program[]): readonly string[] {
  const owner = user === undefined ? "" : `${user.user}:${user.group}`;
  const lines = programs.map(({ path, args }) => [path, ...args].map(quoted).join(" "));
  return ["-c", SCRIPT, "start", owner, directory, ...lines];
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
