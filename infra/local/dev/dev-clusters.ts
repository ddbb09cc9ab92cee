/** The clusters of a development run, wherever they come from. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import type { DevEvent } from './dev-state.ts';

export interface DevCluster {
  /** In keys, in the registry and for people. */
  readonly name: string;
  /** Absolute. */
  readonly kubeconfigPath: string;
  /** Of that file. */
  readonly context: string;
  /** A file that watcher and function use in its place. */
  readonly accessPath?: string;
  /** Whether the run has made it, and may do in it what it likes; in others it is a guest. */
  readonly isOwn: boolean;
  /** Whoever asks for the run has said that no other Dogwatch is at work there. */
  readonly isTakenOver?: boolean;
}

export interface DevClusters<Cluster extends DevCluster = DevCluster> {
  readonly all: readonly Cluster[];
  /** The folder of a kubectl that fits them, where they come with one. */
  readonly programs?: string;
  /** Ends those that the run has made. */
  stop(): Promise<void>;
}

/** Where clusters come from. */
export interface ClusterSource<Cluster extends DevCluster = DevCluster> {
  /**
   * Resolves when those that it makes are ready; others need not answer.
   *
   * @param dir   for files of theirs; it exists, and is removed at the end
   * @throws ConfigError for what whoever asked for them can put right
   */
  start(dir: string, emit: (event: DevEvent) => void): Promise<DevClusters<Cluster>>;
}

/** Writes the registry that names them, for DOGWATCH_CLUSTERS, into `dir`; returns its path. */
export function writeRegistry(dir: string, clusters: readonly DevCluster[]): string {
  const path = join(dir, 'clusters.yml');
  const entries = clusters.map(({ name, kubeconfigPath, accessPath = kubeconfigPath, context }) => ({
    name,
    kubeconfig: accessPath,
    context,
  }));
  writeFileSync(path, dump({ clusters: entries }));
  return path;
}
