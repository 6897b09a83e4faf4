import { expect, onTestFinished, test } from "vitest";
import { azuriteConnectionString, emulatorConnectionString, startAzurite } from "../src/index.ts";
import { isListening, isRunning } from "./support/waiting.ts";

// Fetched at the first run on a machine, which takes a while.
test("Azurite answers as soon as it is started, and nothing of it is left when it is stopped", {
  timeout: 300_000,
}, async () => {
  const server = await startAzurite();
  onTestFinished(() => server.stop());
  const answer = await fetch(`http://127.0.0.1:${server.port}/devstoreaccount1?comp=list`);
  expect(answer.headers.get("server")).toContain("Azurite-Blob");
  expect(answer.status).toBe(403);
  await server.stop();
  await server.stop();
  expect(await isListening(server.port)).toBe(false);
  expect(isRunning(server.pid)).toBe(false);
});

test("the connection string names the port, and is of the form that Azure's clients take", () => {
  const parts = azuriteConnectionString(1234).split(";");
  expect(parts).toContain("BlobEndpoint=http://127.0.0.1:1234/devstoreaccount1");
  expect(parts.map((part) => part.split("=")[0])).toEqual(expect.arrayContaining(["AccountName", "AccountKey"]));
});

test("an emulator that somebody started is named in the short form or in the long one, and nothing else is", () => {
  const long = azuriteConnectionString(10_000);
  for (const short of ["UseDevelopmentStorage=true", "UseDevelopmentStorage=true;"]) {
    expect(emulatorConnectionString(short)).toBe(long);
  }
  expect(emulatorConnectionString(long)).toBe(long);
  expect(emulatorConnectionString(undefined)).toBeUndefined();
  const account = "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=b;EndpointSuffix=core.windows.net";
  for (const other of ["", account, azuriteConnectionString(10_000, "https")]) {
    expect(() => emulatorConnectionString(other)).toThrow("AZURE_STORAGE_CONNECTION_STRING");
  }
});
