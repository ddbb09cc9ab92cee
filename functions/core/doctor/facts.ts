/** What is asked of a deployment before anything is judged. Every answer may be missing. */
import type { Right } from '../rights.ts';
import type { Unit } from '../settings.ts';
import type { Asked } from './finding.ts';

/** One cluster of the registry. */
export interface ClusterFacts {
  readonly name: string;
  /** GET /version, which needs a way there and credentials that are no wrong ones. */
  readonly server: Asked<ServerFacts>;
  /** Whom the server takes us for; a server before 1.28 cannot say. */
  readonly user: Asked<string>;
  /** By process: each right it needs, and whether this identity has it. */
  readonly rights: Readonly<Partial<Record<Unit, readonly AnsweredRight[]>>>;
  /** By `group/version`: what is served there; undefined: nothing. */
  readonly served: ReadonlyMap<string, Asked<readonly ServedResource[] | undefined>>;
  /** By name of the CRD; undefined: there is none. */
  readonly definitions: ReadonlyMap<string, Asked<unknown>>;
}

export interface ServerFacts {
  /** `v1.36.2`. */
  readonly version: string;
  /** The server's clock less ours, in seconds; undefined where it tells no time. */
  readonly skewSeconds: number | undefined;
}

export interface AnsweredRight {
  readonly right: Right;
  readonly isAllowed: Asked<boolean>;
}

/** An entry of a discovery document; `name` is the plural, `tenants/status` for a subresource. */
export interface ServedResource {
  readonly name: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
}

export type Lane = 'live' | 'bulk';
export type QueueName = Lane | 'dead-letters';

export interface QueueFacts {
  /** How it was named; undefined: nobody named it. */
  readonly url: string | undefined;
  readonly attributes: Asked<QueueAttributes>;
}

/** What SQS says of a queue. */
export interface QueueAttributes {
  readonly arn: string;
  readonly visibilitySeconds: number;
  readonly retentionSeconds: number;
  readonly redrive: { readonly targetArn: string; readonly maxReceiveCount: number } | undefined;
  /** Undefined where it takes the dead letters of anybody in the account. */
  readonly redriveAllow: { readonly permission: string; readonly sourceArns: readonly string[] } | undefined;
}

export interface FunctionFacts {
  readonly name: string;
  readonly configuration: Asked<FunctionConfiguration>;
  readonly mappings: Asked<readonly EventSourceMapping[]>;
  /** `Allow` or `Terminate`. */
  readonly recursiveLoop: Asked<string>;
  /** Undefined: none is reserved. */
  readonly reservedConcurrency: Asked<number | undefined>;
}

export interface FunctionConfiguration {
  readonly runtime: string;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
  /** `Active`, `Pending`, `Inactive`, `Failed`; and `Successful`, `InProgress`, `Failed`. */
  readonly state: string;
  readonly lastUpdate: string;
  /** AWS's sentence where one of the two is no good. */
  readonly reason: string | undefined;
}

export interface EventSourceMapping {
  readonly id: string;
  readonly queueArn: string;
  readonly state: string;
  readonly responseTypes: readonly string[];
  readonly maximumConcurrency: number | undefined;
  readonly windowSeconds: number;
  readonly hasFilter: boolean;
}

/** All of it. */
export interface DeploymentFacts {
  /** Names of the clusters in the registry. */
  readonly registry: Asked<{ readonly label: string; readonly names: readonly string[] }>;
  readonly clusters: readonly ClusterFacts[];
  readonly queues: Readonly<Record<QueueName, QueueFacts>>;
  /** Undefined: nobody named one. */
  readonly function: FunctionFacts | undefined;
}
