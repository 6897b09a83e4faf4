import { expect, it } from "vitest";
import { assertExactlyOne } from "../src/option-choice.ts";

const check = (options: object) => () => assertExactlyOne(options, "connection", "url", "pool", "client");

it.each([{ url: "" }, { pool: null }, { client: 0, url: undefined }])("One way is enough: %o", (options) => {
  expect(check(options)).not.toThrow();
});

it.each([{}, { url: undefined }, { url: "a", pool: {} }, { url: null, pool: {}, client: {} }])(
  "None and several are refused: %o",
  (options) => {
    expect(check(options)).toThrow(
      expect.objectContaining({
        code: "configuration",
        message: "connection: must have exactly one of url, pool and client",
      }),
    );
  },
);
