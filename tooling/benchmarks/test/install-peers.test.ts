import { describe, expect, it } from "vitest";
import { peersOf } from "../src/install-peers.ts";

const open = async () => ({ append: async () => {}, load: async () => 0 });

describe("peersOf", () => {
  it("gives the peers that a module exports", () => {
    const peers = [{ name: "one", kind: "memory", open }];
    expect(peersOf({ peers })).toEqual(peers);
  });

  it.each([
    [undefined],
    [{}],
    [{ peers: "none" }],
    [{ peers: [{ name: "one", kind: "memory" }] }],
    [{ peers: [{ name: "one", kind: "disk", open }] }],
    [{ peers: [{ kind: "file", open }] }],
  ])("refuses %j", (module) => {
    expect(() => peersOf(module)).toThrow("does not export a list of peers");
  });
});
