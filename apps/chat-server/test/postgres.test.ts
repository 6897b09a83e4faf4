import { replicaTests } from "./support/replica-tests.ts";

replicaTests("postgres");
