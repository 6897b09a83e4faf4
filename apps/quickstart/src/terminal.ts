/** Writes one line to standard output. */
export function print(line = ""): void {
  process.stdout.write(`${line}\n`);
}

/** Writes one line to standard error. */
export function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

/**
 * Text from a model or from a store, fit for a terminal: control characters, which could move the cursor or hide what
 * stands there, are replaced; line breaks and tabs stay.
 */
export function printable(text: string): string {
  return text.toWellFormed().replace(/(?![\n\t])\p{Cc}/gu, "\uFFFD");
}

/** The same on one line, cut to `length` characters. */
export function oneLine(text: string, length: number): string {
  const characters = [...printable(text.slice(0, length * 4)).replace(/\s+/g, " ")];
  const isCut = characters.length > length || text.length > length * 4;
  return isCut ? `${characters.slice(0, length - 3).join("")}...` : characters.join("");
}

/** An argument as a shell takes it. */
export function shellQuoted(argument: string): string {
  return /^[\w./:@%+=,-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** An address with a password's place in it, but not the password. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.password = shown.password === "" ? "" : "***";
  for (const name of shown.searchParams.keys()) {
    // Drivers of PostgreSQL take a password from there, too; a signature is all that Azure asks for.
    if (/password|^sig$/i.test(name)) {
      shown.searchParams.set(name, "***");
    }
  }
  return shown.href;
}

/** A count with its noun: `1 message`, `2 messages`. */
export function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
