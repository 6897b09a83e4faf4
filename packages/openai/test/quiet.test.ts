import { expect, it, vi } from "vitest";
import { collect, connect, message, rejection } from "./helpers.ts";

// In a file of its own: the driver remembers the console that it saw first.
it("prints nothing, also for chunks that the driver cannot read and when its log is turned on", async () => {
  const printed = (["log", "info", "warn", "error", "debug"] as const).map((name) => vi.spyOn(console, name));
  vi.stubEnv("OPENAI_LOG", "debug");
  const { client, server } = await connect();
  server.reply({ stream: ["data: {broken\n\n"] });
  await rejection(collect(client.stream([message("user", "Hi")])));
  for (const spy of printed) {
    expect(spy).not.toHaveBeenCalled();
  }
});
