import { describe, expect, it } from "vitest";
import { retryAfterMs } from "../../src/backend/retry-after.ts";

describe("The time after which a service may be asked again", () => {
  it("is seconds or a date", () => {
    expect(retryAfterMs("0")).toBe(0);
    expect(retryAfterMs("120")).toBe(120_000);
    const inAnHour = retryAfterMs(new Date(Date.now() + 3_600_000).toUTCString());
    expect(inAnHour).toBeGreaterThan(3_590_000);
    expect(inAnHour).toBeLessThanOrEqual(3_600_000);
    expect(retryAfterMs("Wed, 21 Oct 2015 07:28:00 GMT")).toBe(0);
  });

  it.each([undefined, null, 5, "", "-5", "1.5", "soon", "9".repeat(20)])("is not said by %o", (text) => {
    expect(retryAfterMs(text)).toBeUndefined();
  });
});
