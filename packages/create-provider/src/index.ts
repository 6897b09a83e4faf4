export { CreateProviderError, type CreateProviderErrorCode } from "./errors.ts";
export { type ProviderKind, providerKinds } from "./kinds.ts";
export { nameProvider, type ProviderNames, type ProviderRequest } from "./names.ts";
export { type RenderedFiles, renderProvider } from "./render.ts";
export { type WriteProviderOptions, writeProvider } from "./write.ts";
