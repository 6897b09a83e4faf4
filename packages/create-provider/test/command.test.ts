import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../src/cli-run.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agentfw-command-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function command(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  const written = { out: "", err: "" };
  const code = await runCli(args, folder, {
    out: (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
  });
  return { code, output: written.out, errors: written.err };
}

/**
 * Runs the command, which has to refuse, and gives what it said, where errors go and not where output goes. The folder
 * must be as it was.
 */
async function refusal(...args: string[]): Promise<string> {
  const before = await readdir(folder, { recursive: true });
  const { code, output, errors } = await command(...args);
  expect({ code, output }).toEqual({ code: 2, output: "" });
  expect(await readdir(folder, { recursive: true })).toEqual(before);
  return errors;
}

describe("a project", () => {
  it("goes to a new folder with the package's name, and the next commands are shown", async () => {
    const { code, output } = await command("history", "sqlite");
    expect(code).toBe(0);
    expect(output).toContain("cd agentfw-history-sqlite\n  npm install\n  npm test\n");
    expect(output).toContain("src/sqlite-history-store.ts");
    expect(await readdir(folder)).toEqual(["agentfw-history-sqlite"]);
    expect((await readdir(join(folder, "agentfw-history-sqlite"))).sort()).toEqual([
      ".changeset",
      ".github",
      ".gitignore",
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "package.json",
      "scripts",
      "src",
      "test",
      "tsconfig.build.json",
      "tsconfig.json",
      "vitest.config.ts",
    ]);
  });

  it("takes the scope that it is given, and a folder of any name", async () => {
    const { code, output } = await command("state", "sqlite", "--scope", "@acme", "--directory=some where/deep");
    expect(code).toBe(0);
    expect(output).toContain('cd "some where/deep"\n');
    const manifest = JSON.parse(await readFile(join(folder, "some where", "deep", "package.json"), "utf8"));
    expect(manifest.name).toBe("@acme/state-sqlite");
  });

  it("goes to the folder that the person is in, also when it is a new git repository", async () => {
    await mkdir(join(folder, ".git"));
    const { code, output } = await command("file", "sqlite", "-d", ".");
    expect(code).toBe(0);
    expect(output).not.toContain("cd ");
    expect(await readdir(folder)).toContain("package.json");
  });
});

describe("what is there already", () => {
  beforeEach(async () => {
    await mkdir(join(folder, "taken"));
    await writeFile(join(folder, "taken", "README.md"), "mine");
    await writeFile(join(folder, "taken", "notes.txt"), "mine");
  });

  it("is not touched: a folder that is not empty is refused", async () => {
    expect(await refusal("history", "sqlite", "-d", "taken")).toMatch(/^directory: .+ is not empty/);
    expect(await readFile(join(folder, "taken", "README.md"), "utf8")).toBe("mine");
  });

  it("is replaced with --force where it has the same name, and kept where it has not", async () => {
    expect((await command("history", "sqlite", "-d", "taken", "--force")).code).toBe(0);
    expect(await readFile(join(folder, "taken", "README.md"), "utf8")).toContain("# agentfw-history-sqlite");
    expect(await readFile(join(folder, "taken", "notes.txt"), "utf8")).toBe("mine");
  });

  it("is neither written through nor taken away when it is a link: the link is named", async () => {
    await mkdir(join(folder, "elsewhere"));
    await writeFile(join(folder, "elsewhere", "options.ts"), "mine");
    await symlink(join(folder, "elsewhere"), join(folder, "taken", "src"));
    expect(await refusal("history", "sqlite", "-d", "taken", "--force")).toContain(
      `directory: ${join(folder, "taken", "src")} is a symbolic link`,
    );
    expect(await readFile(join(folder, "elsewhere", "options.ts"), "utf8")).toBe("mine");
    expect(await readFile(join(folder, "taken", "README.md"), "utf8")).toBe("mine");
  });

  it("may be a file, which is no folder", async () => {
    expect(await refusal("history", "sqlite", "-d", "taken/notes.txt")).toMatch(/^directory: .+ is not a folder/);
    expect(await refusal("history", "sqlite", "-d", "taken/notes.txt/deeper")).toMatch(
      /^directory: .+ is not a folder/,
    );
  });

  it("may be a directory where a file has to go; then it ends with 1 and says so", async () => {
    await mkdir(join(folder, "taken", "package.json"));
    const { code, errors } = await command("history", "sqlite", "-d", "taken", "--force");
    expect(code).toBe(1);
    expect(errors).toMatch(/^directory: .*package\.json/);
  });
});

describe("a call that is not understood is refused with a sentence", () => {
  it.each([
    [[], "Missing: KIND"],
    [["history"], "Missing: NAME"],
    [["redis", "history"], 'kind: must be one of history, state, file, context, chat-client; it is "redis"'],
    [["", "sqlite"], "kind: must be one of"],
    [["history", ""], "name: must be lower-case letters"],
    [["history", "../x"], "name: must be lower-case letters"],
    [["history", "sqlite", "more"], "Not understood: more"],
    [["history", "sqlite", "--", "--force"], "Not understood: --force"],
    [["history", "sqlite", "--template", "x"], "Unknown option '--template'\n"],
    [["history", "sqlite", "--yes"], "Unknown option '--yes'\n"],
    [["history", "sqlite", "-y"], "Unknown option '-y'\n"],
    [["history", "sqlite", "--no-force"], "Unknown option '--no-force'\n"],
    [["history", "sqlite", "--no-scope"], "Unknown option '--no-scope'\n"],
    [["history", "sqlite", "--Force"], "Unknown option '--Force'\n"],
    [["history", "sqlite", "--kind=state"], "Unknown option '--kind'\n"],
    [["history", "sqlite", "--_=x"], "Unknown option '--_'\n"],
    [["history", "sqlite", "--d=x"], "Unknown option '--d'\n"],
    [["history", "sqlite", "--help", "--yes"], "Unknown option '--yes'\n"],
    [["history", "sqlite", "--force=no"], "'--force' does not take an argument"],
    [["history", "sqlite", "--force=true"], "'--force' does not take an argument"],
    [["history", "sqlite", "--force="], "'--force' does not take an argument"],
    [["--help=no"], "--help' does not take an argument"],
    [["--version=false"], "'--version' does not take an argument"],
    [["history", "sqlite", "--force", "--force"], "--force: is said twice"],
    [["history", "sqlite", "--scope", "acme", "--scope=acme"], "--scope: is said twice"],
    [["history", "sqlite", "-d", "one", "--directory", "two"], "--directory: is said twice"],
    [["-h", "--help"], "--help: is said twice"],
    [["history", "sqlite", "--scope"], "--scope <value>' argument missing"],
    [["history", "sqlite", "--scope", "--force"], "'--scope' argument is ambiguous"],
    [["history", "sqlite", "-d", "--help"], "argument is ambiguous"],
    [["history", "sqlite", "--scope="], "--scope: says nothing"],
    [["history", "sqlite", "--scope", ""], "--scope: says nothing"],
    [["history", "sqlite", "--directory="], "--directory: says nothing"],
    [["history", "sqlite", "-d", " "], "--directory: says nothing"],
    [["history", "sqlite", "-d=there"], '-d: its value follows a blank and no "=", as in "-d there"'],
    [["history", "sqlite", "--scope", "node_modules"], "scope: must be the name of an npm user or organization"],
    [["history", "sqlite", "--scope", "agentfw"], 'scope: "@agentfw" is the project\'s own'],
    [["history", "sqlite", "--scope=@agentfw"], 'scope: "@agentfw" is the project\'s own'],
  ])("%j", async (args, text) => {
    const output = await refusal(...args);
    expect(output).toContain(text);
  });
});

it("shows its options and its version, and makes nothing", async () => {
  for (const help of ["--help", "-h"]) {
    const { code, output } = await command("history", "sqlite", help);
    expect(code).toBe(0);
    for (const word of [
      "KIND",
      "NAME",
      "history, state, file, context, chat-client",
      "--scope",
      "--directory",
      "--force",
    ]) {
      expect(output).toContain(word);
    }
  }
  expect(await command("--version")).toEqual({
    code: 0,
    output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    errors: "",
  });
  expect(await readdir(folder)).toEqual([]);
});
