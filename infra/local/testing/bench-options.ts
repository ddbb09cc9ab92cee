/** What a bench is made of, and its defaults. */
import { type Environment, type ReconcileConfig, readConfig } from '../../../functions/core/config.ts';
import type { Reconciler } from '../../../functions/core/reconciler.ts';
import { type SettingName, variableOf } from '../../../functions/core/settings.ts';
import type { ManifestObject } from './test-cluster.ts';
import { QUEUE_URLS } from './test-queues.ts';

/** Settings by their names without DOGWATCH_: `{ maxAttempts: 3 }` is DOGWATCH_MAX_ATTEMPTS=3. */
export type BenchSettings = { readonly [Name in Exclude<SettingName, 'clusters' | `${string}Url` | 'httpAddress'>]?: number };

/** What {@link startBench} is told. */
export interface BenchOptions {
  /** What `defineReconciler` returned: all that the function knows, each for a kind of its own. */
  readonly reconcilers: readonly Reconciler[];
  /** Names of the clusters; `['test']` if left out. */
  readonly clusters?: readonly string[];
  /** CustomResourceDefinitions of kinds that no reconciler defines, as objects or YAML. Those of the reconcilers are applied anyway. */
  readonly crds?: readonly (ManifestObject | string)[];
  /** What differs from the product's defaults (ARCHITECTURE.md, Settings); resyncs and probes of quiet watches are rare unless they are set. */
  readonly settings?: BenchSettings;
  /** When virtual time begins; 2026-01-01T00:00:00Z if left out. */
  readonly now?: Date;
  /** Real milliseconds after which a reconciler that makes no call of the bench is taken to hang, so that its deadline comes; 5000 if left out. */
  readonly hangMs?: number;
  /** Told of each line of the log, for example `console.log`. */
  readonly onLog?: (level: string, message: string, fields: Readonly<Record<string, unknown>>) => void;
}

/** What tests of single objects do not want to meet by chance: a resync, whose time is found from the uid, and checks of quiet watches. */
const SETTINGS = { resyncSeconds: 2_592_000, probeSeconds: 86_400 } satisfies BenchSettings;

/** @throws ConfigError naming the variable of a setting that is out of its bounds */
export function configOf(settings: BenchSettings = {}): ReconcileConfig {
  const env: Record<string, string> = {
    DOGWATCH_CLUSTERS: 'bench',
    DOGWATCH_QUEUE_URL: QUEUE_URLS.live,
    DOGWATCH_BULK_QUEUE_URL: QUEUE_URLS.bulk,
    DOGWATCH_DEAD_LETTER_QUEUE_URL: QUEUE_URLS.deadLetter,
  };
  for (const [name, value] of Object.entries({ ...SETTINGS, ...settings })) env[variableOf(name as SettingName)] = String(value);
  readConfig(env satisfies Environment, 'watcher');
  return readConfig(env, 'reconcile');
}
