import { lossTests } from "./support/loss-tests.ts";
import { turnTests } from "./support/turn-tests.ts";
import { twoReplicas } from "./support/two-replicas.ts";
import { userTests } from "./support/user-tests.ts";

const replicas = twoReplicas("redis");
turnTests(replicas);
userTests(replicas);
lossTests(replicas);
