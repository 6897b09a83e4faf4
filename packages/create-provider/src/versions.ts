/**
 * The oldest versions that a new project asks for: the ones that its template was tested with. A test of this package
 * fails when one of them does not admit what is about to be released.
 */
export const versions = { core: "^0.1.0", kit: "^0.1.0" } as const;
