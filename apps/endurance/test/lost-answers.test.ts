import type { MessageInput, Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { NETWORKS } from "./support/networks.ts";
import { type Answer, call, MODES, Stage, shape } from "./support/stage.ts";
import { ObservedStore } from "./support/stores.ts";

const CASES = Object.entries(NETWORKS).flatMap(([backend, reach]) =>
  [false, true].flatMap((isStreamed) =>
    MODES.map((historyPersistence) => ({ backend, reach, isStreamed, historyPersistence })),
  ),
);

describe.each(CASES)(
  "A run whose server's answer gets lost ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ reach, historyPersistence, ...way }) => {
    /** Two runs, the second with a person's answer; the answer to the `lost`th call of the store does not arrive. */
    async function pay(lost: number) {
      const { store: data, proxy } = await reach();
      const ran: string[] = [];
      const tool = (name: string, approval?: "required"): Tool => ({
        ...{ name, approval, parameters: { type: "object" } },
        execute: () => void ran.push(name),
      });
      const script: Answer[] = [{ pieces: [call("1", "look"), call("2", "pay")] }, "paid"];
      const store = new ObservedStore(data, (_, count) => count === lost && proxy.cutNextReply(0));
      const stage = new Stage(store, way, script, {
        historyPersistence,
        history: { conditionalAppend: true },
        tools: [tool("look"), tool("pay", "required")],
      });
      // The first call of a store makes what it needs, and what that is differs.
      await stage.stored();
      const asking = await stage.run("go");
      const yes: MessageInput = {
        role: "user",
        contents: asking.approvalRequests.map(({ id }) => ({ type: "function_approval_response", id, approved: true })),
      };
      const { text } = await stage.run([yes]);
      const { length } = store.calls;
      return { text, ran: ran.sort(), length, stored: shape(await stage.stored()) };
    }

    it("asks for it again, goes on, and its tools run once, whichever answer it is", async () => {
      const whole = await pay(0);
      expect(whole).toMatchObject({ text: "paid", ran: ["look", "pay"] });
      for (let lost = 2; lost <= whole.length; lost += 1) {
        expect(await pay(lost), `call ${lost} of ${whole.length}`).toEqual(whole);
      }
    });
  },
);
