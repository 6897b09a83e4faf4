export type { LocalServer, ReceivedRequest } from "./http.ts";
export { type Fields, isFields } from "./refusal.ts";
export { type Answer, type AnsweredCall, type Delivery, DONE, type Reply, streamOf } from "./replies.ts";
export type { Leniency } from "./request-rules.ts";
export {
  asks,
  eventsOf,
  outputItems,
  type ResponsesAnswer,
  type ResponsesReply,
  responseBody,
  says,
} from "./responses-replies.ts";
export {
  type StrictResponsesOptions,
  type StrictResponsesServer,
  startStrictResponsesServer,
} from "./strict-responses-server.ts";
export { type StrictServer, type StrictServerOptions, startStrictServer } from "./strict-server.ts";
