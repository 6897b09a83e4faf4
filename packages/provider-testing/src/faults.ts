export { type FaultProxy, type ProxyTarget, type RequestChoice, startFaultProxy } from "./faults/fault-proxy.ts";
