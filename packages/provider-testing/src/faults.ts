export { type FaultProxy, type ProxyTarget, type RequestChoice, startFaultProxy } from "./faults/fault-proxy.ts";
export { type FaultHooks, type FaultHooksOptions, faultHooks } from "./faults/hooks.ts";
