import { assertOptions } from "./option-input.ts";

/**
 * Options with defaults in the place of those that are absent or undefined. What the defaults do not name is no option, and
 * where a default is true or false the option must be. What else an option may be is for the caller to check.
 *
 * @param field Names the object itself in errors.
 * @param defaults All options there are; undefined for one without a default.
 * @throws `configuration` naming the member and the rule.
 */
export function withDefaults<Settings extends object>(
  options: { readonly [Name in keyof Settings]?: Settings[Name] | undefined },
  field: string,
  defaults: Settings,
): Settings {
  const known = Object.keys(defaults);
  const flags = known.filter((name) => typeof Reflect.get(defaults, name) === "boolean");
  assertOptions(options, field, known, Object.fromEntries(flags.map((name) => [name, "boolean"])));
  const settings = { ...defaults };
  for (const name of known) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) {
      Reflect.set(settings, name, value);
    }
  }
  return settings;
}
