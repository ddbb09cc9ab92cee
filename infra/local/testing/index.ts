/** `dogwatch/testing`: a bench for reconcilers. README.md beside this file shows how it is used. */
export { type Bench, startBench } from './bench.ts';
export { BenchError, type BenchErrorCode } from './bench-error.ts';
export type { BenchOptions, BenchSettings } from './bench-options.ts';
export type { CrashPoint, Effect, EffectChoice } from './effects.ts';
export { type CrashOptions, type CrashReport, type CrashStory, forEachCrash } from './for-each-crash.ts';
export { type OutsideOptions, type OutsideRequest, type OutsideService, startOutsideService } from './outside-service.ts';
export type { Limits } from './pipeline.ts';
export type { DeadLetter, LogLine, ObjectPlace, RecordedWrite, RunOutcome, SentMessage } from './records.ts';
export { type Condition, conditionOf, type StoredObject } from './stored-object.ts';
export type { ManifestObject, TestCluster } from './test-cluster.ts';
