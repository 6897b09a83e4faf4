import { symlinkSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CreateProviderError, nameProvider, renderProvider, writeProvider } from "../src/index.ts";

const FILES = await renderProvider(nameProvider({ kind: "history", name: "sqlite" }));

/** Every file of a project and every folder in it. */
const PATHS = [...new Set([...FILES.keys()].flatMap((path) => prefixes(path.split("/"))))].sort();
const FOLDERS = PATHS.filter((path) => !FILES.has(path));

function prefixes(segments: readonly string[]): string[] {
  return segments.map((_, index) => segments.slice(0, index + 1).join("/"));
}

let folder = "";
let project = "";
let elsewhere = "";

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "agentfw-write-")));
  project = join(folder, "project");
  elsewhere = join(folder, "elsewhere");
  await mkdir(elsewhere);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** All that is in the test's folder: texts of files, and what links are. */
async function everything(): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of (await readdir(folder, { recursive: true })).sort()) {
    const status = await lstat(join(folder, path));
    found[path] = status.isFile()
      ? await readFile(join(folder, path), "utf8")
      : status.isDirectory()
        ? "folder"
        : "link";
  }
  return found;
}

/** The error with which the project is refused, in one line; nothing may have changed. */
async function refusal(directory: string, options: { readonly force?: boolean }, files = FILES) {
  const before = await everything();
  const error = await writeProvider(directory, files, options).catch((reason: unknown) => reason);
  expect(await everything()).toEqual(before);
  if (!(error instanceof CreateProviderError)) {
    throw new Error("not refused", { cause: error });
  }
  expect(error.message).not.toContain("\n");
  return { code: error.code, message: error.message };
}

/** A project that is there already, with a link at one of its paths; what the link leads to holds the same names. */
async function projectWithLink(path: string, target: string): Promise<void> {
  for (const one of FILES.keys()) {
    await mkdir(dirname(join(project, one)), { recursive: true });
    await writeFile(join(project, one), "mine");
    const below = one.startsWith(`${path}/`) ? one.slice(path.length + 1) : "file";
    await mkdir(dirname(join(elsewhere, below)), { recursive: true });
    await writeFile(join(elsewhere, below), "not to be touched");
  }
  await rm(join(project, path), { recursive: true });
  await symlink(target, join(project, path));
}

describe("with force, nothing behind a link is written or replaced, and the link is named:", () => {
  it.each(PATHS)("%s", async (path) => {
    await projectWithLink(path, FILES.has(path) ? join(elsewhere, "file") : elsewhere);
    const { code, message } = await refusal(project, { force: true });
    expect(code).toBe("exists");
    expect(message).toContain(`${join(project, path)} is a symbolic link`);
  });

  it.each(PATHS)("%s, where the link leads nowhere", async (path) => {
    await projectWithLink(path, join(elsewhere, "nowhere"));
    expect((await refusal(project, { force: true })).message).toContain(`${join(project, path)} is a symbolic link`);
  });

  it("the folder of the project itself", async () => {
    await symlink(elsewhere, project);
    expect(await refusal(project, { force: true })).toEqual({
      code: "exists",
      message: expect.stringContaining(`${project} is a symbolic link`),
    });
  });

  it("a link that comes into the way of a folder after everything was looked at", async () => {
    class Late extends Map<string, string> {
      override [Symbol.iterator]() {
        symlinkSync(elsewhere, join(project, "src"));
        return super[Symbol.iterator]();
      }
    }
    await mkdir(project);
    const written = writeProvider(project, new Late([["src/options.ts", "text"]]), { force: true });
    await expect(written).rejects.toMatchObject({ code: "unwritable", message: expect.stringContaining("src is not") });
    expect(await readdir(elsewhere)).toEqual([]);
  });
});

describe("links that are in nobody's way", () => {
  it("stay: above the folder of the project, and under names that no project has", async () => {
    await symlink(elsewhere, join(folder, "above"));
    await mkdir(join(elsewhere, "project"));
    await symlink(folder, join(elsewhere, "project", "mine"));
    await writeProvider(join(folder, "above", "project"), FILES, { force: true });
    expect(await readFile(join(elsewhere, "project", "README.md"), "utf8")).toContain("# agentfw-history-sqlite");
    expect((await lstat(join(elsewhere, "project", "mine"))).isSymbolicLink()).toBe(true);
  });

  it("lead to an empty folder, which is taken without force", async () => {
    await symlink(elsewhere, project);
    await writeProvider(project, FILES);
    expect(await readdir(elsewhere)).toContain("package.json");
  });
});

describe("a folder that cannot be made is told at once", () => {
  // Linux refuses a folder there as if its parent were missing.
  const refusing = (name: string) =>
    process.platform === "linux" ? join("/proc", name) : join(folder, name, "x".repeat(300));

  it.each(["agentfw", "agentfw/deep/down"])("%s, where the system makes none", async (name) => {
    for (const force of [false, true]) {
      const { code, message } = await refusal(refusing(name), { force });
      expect(code).toBe("unwritable");
      expect(message).toContain(`directory: ${refusing(name)} cannot be `);
    }
  });

  it("below a name that is too long", async () => {
    await mkdir(project);
    const directory = join(project, "x".repeat(300));
    expect((await refusal(directory, {})).message).toContain(`directory: ${directory} cannot be `);
  });

  it("at or below a link that leads nowhere, or to itself", async () => {
    await symlink("nowhere", join(folder, "dangling"));
    await symlink("circle", join(folder, "circle"));
    expect(await refusal(join(folder, "dangling"), {})).toEqual({
      code: "exists",
      message: `directory: ${join(folder, "dangling")} is a symbolic link that leads nowhere`,
    });
    for (const path of ["dangling/below/it", "circle", "circle/below"]) {
      expect(await refusal(join(folder, path), {})).toMatchObject({
        code: "unwritable",
        message: expect.stringContaining(`directory: ${join(folder, path)} cannot be `),
      });
    }
  });

  it("where a file has the name of a folder in the project", async () => {
    await mkdir(project);
    await writeFile(join(project, "src"), "mine");
    await expect(writeProvider(project, FILES, { force: true })).rejects.toMatchObject({
      code: "unwritable",
      message: expect.stringContaining(`${join(project, "src")} is not a folder`),
    });
    expect(await readFile(join(project, "src"), "utf8")).toBe("mine");
  });
});

it.each(["../file", "src/../../file", "/file", "src//file", "src/./file", "", "..\\file", "C:file", "c:/file"])(
  "a file outside of the project is refused: %j",
  async (path) => {
    expect(await refusal(project, { force: true }, new Map([[path, "text"]]))).toEqual({
      code: "configuration",
      message: expect.stringMatching(/^files: /),
    });
  },
);

it("a project has folders at more than one depth, so that links in all of them were tried", () => {
  expect(FOLDERS).toEqual(expect.arrayContaining(["src", ".github", ".github/workflows"]));
});
