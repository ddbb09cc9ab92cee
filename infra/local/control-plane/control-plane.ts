/**
 * A real Kubernetes control plane on loopback: etcd, kube-apiserver and (for garbage collection, namespaces and quotas)
 * kube-controller-manager. No scheduler and no kubelet: pods stay Pending. Any number may run side by side.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePorts } from '../free-ports.ts';
import { type ManagedProcess, plainEnv, startProcess } from '../managed-process.ts';
import { type CommandResult, runCommand } from '../run-command.ts';
import { retryOnTakenPort, waitUntilReady } from '../until-ready.ts';
import { controlPlaneAssets, type Program, programsFor } from './build.ts';
import { apiServerFlags, type ControlPlanePaths, type ControlPlanePorts, controllerFlags, etcdFlags } from './flags.ts';
import { isApiServerReady, isEtcdReady } from './readiness.ts';
import { claimStateDir, pathsIn, type StateDir, writeServerFiles } from './state-dir.ts';
import { adminTokenFor, type ControlPlaneUser, kubeconfigYaml, standardUsers, tokenOf } from './users.ts';

export interface ControlPlaneOptions {
  /** For messages. Default: `control plane`. */
  readonly name?: string;
  /** Where its state is. Default: a temporary folder. */
  readonly dir?: string;
  /** Keep the state after `stop`, so that a later start on `dir` finds the same data, keys and tokens. Default: true when `dir` is given. */
  readonly keepState?: boolean;
  /** HTTPS; etcd takes the next two. Default: free ones. */
  readonly port?: number;
  /** Run kube-controller-manager. Default: true. */
  readonly controllers?: boolean;
  /** Write `auditLogPath`. Default: false. */
  readonly auditLog?: boolean;
  /** Further flags of kube-apiserver. */
  readonly flags?: readonly string[];
  /** The admin's token. Default: random, or the one that `dir` had before. */
  readonly token?: string;
  /** Beside the standard ones. */
  readonly users?: readonly ControlPlaneUser[];
  /** How long each server may take to be ready. Default: 60. */
  readonly readySeconds?: number;
}

export type Pausable = 'api-server' | 'etcd';

const READY_SECONDS = 60;

/**
 * Starts a control plane and resolves when it is ready (about 3 s). It ends with this process at the latest.
 *
 * @throws ConfigError when the programs are not there and cannot be built, or `dir` is in use; Error when a server does not get ready
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const assetsDir = await controlPlaneAssets(programsFor({ controllers: options.controllers ?? true }));
  const state = claimStateDir(options.dir, options.keepState ?? options.dir !== undefined);
  try {
    const token = await adminTokenFor(state.dir, options.token);
    const start = () => startOnPorts(options, assetsDir, state, token);
    return await (options.port === undefined ? retryOnTakenPort(start) : start());
  } catch (error) {
    state.release();
    throw error;
  }
}

async function startOnPorts(options: ControlPlaneOptions, assetsDir: string, state: StateDir, token: string): Promise<ControlPlane> {
  const controlPlane = new ControlPlane(options, assetsDir, state, token, await choosePorts(options.port));
  try {
    await controlPlane.start();
    return controlPlane;
  } catch (error) {
    await controlPlane.kill();
    throw error;
  }
}

async function choosePorts(given: number | undefined): Promise<ControlPlanePorts> {
  if (given !== undefined) return { api: given, etcd: given + 1, etcdPeer: given + 2 };
  const [api, etcd, etcdPeer] = (await findFreePorts(3)) as [number, number, number];
  return { api, etcd, etcdPeer };
}

/** A control plane; get one from `startControlPlane`. Its address, certificate and tokens stay the same over every stop and start. */
export class ControlPlane {
  readonly name: string;
  readonly dir: string;
  readonly url: string;
  readonly caFile: string;
  /** Of the user `admin`. */
  readonly token: string;
  readonly nobodyToken: string;
  readonly kubeconfigPath: string;
  /** Undefined without `auditLog`. Read it with `readAudit`. */
  readonly auditLogPath: string | undefined;
  readonly assetsDir: string;
  /** etcd's plain HTTP, with its JSON gateway. */
  readonly etcdUrl: string;
  /** May be copied and put back while `restart` has everything down: a restore. */
  readonly etcdDataDir: string;

  readonly #options: ControlPlaneOptions;
  readonly #state: StateDir;
  readonly #ports: ControlPlanePorts;
  readonly #paths: ControlPlanePaths;
  readonly #users: readonly ControlPlaneUser[];
  #flags: readonly string[];
  readonly #processes = new Map<Program, ManagedProcess>();

  constructor(options: ControlPlaneOptions, assetsDir: string, state: StateDir, token: string, ports: ControlPlanePorts) {
    this.#options = options;
    this.#state = state;
    this.#ports = ports;
    this.#paths = pathsIn(state.dir);
    this.#users = [...standardUsers, ...(options.users ?? [])];
    this.#flags = options.flags ?? [];
    this.name = options.name ?? 'control plane';
    this.dir = state.dir;
    this.assetsDir = assetsDir;
    this.url = `https://127.0.0.1:${ports.api}`;
    this.caFile = join(this.#paths.certs, 'apiserver.crt');
    this.token = token;
    this.nobodyToken = tokenOf(token, 'nobody');
    this.auditLogPath = options.auditLog === true ? this.#paths.auditLog : undefined;
    this.etcdUrl = `http://127.0.0.1:${ports.etcd}`;
    this.etcdDataDir = this.#paths.etcdData;
    this.kubeconfigPath = this.#kubeconfigPath('admin');
    this.#writeFiles();
  }

  /** Kubeconfig file and token of one user. @throws Error for a user that does not exist */
  readonly kubeconfigFor = (user: string): { readonly path: string; readonly token: string } => {
    if (!this.#users.some(({ name }) => name === user)) throw new Error(`${this.name} has no user ${user}`);
    return { path: this.#kubeconfigPath(user), token: tokenOf(this.token, user) };
  };

  /** Runs kubectl to its end, as admin unless told otherwise; an exit code other than 0 is a result, not an error. */
  async kubectl(
    args: readonly string[],
    options: { readonly input?: string; readonly user?: string; readonly timeoutSeconds?: number } = {},
  ): Promise<CommandResult> {
    const { user = 'admin', ...rest } = options;
    // A discovery cache of our own: the one in HOME is found by address, and another control plane may have had this one.
    const own = [`--kubeconfig=${this.kubeconfigFor(user).path}`, `--cache-dir=${join(this.dir, 'kubectl-cache')}`];
    return await runCommand(join(this.assetsDir, 'kubectl'), [...own, ...args], { env: plainEnv(), ...rest });
  }

  /** Starts what does not run. Resolves when the API server is ready. */
  async start(): Promise<void> {
    await this.#startEtcd();
    await this.startApiServer();
    if (this.#options.controllers !== false) {
      await this.#start('kube-controller-manager', controllerFlags(this.kubeconfigFor('controllers').path));
    }
  }

  /** Stops everything in order. State that is not kept is removed (then there is no need for order, and all are killed). */
  async stop(): Promise<void> {
    await (this.#state.keep ? this.#stopAll() : this.kill());
    this.#state.release();
  }

  /** SIGKILL to all at once, as in a crash. The data stays: `start` brings it up again. */
  async kill(): Promise<void> {
    await Promise.all([...this.#processes.keys()].map((program) => this.#end(program, 'kill')));
  }

  /** Stops everything in order, does `whileDown`, and starts it again on the same data and address. */
  async restart(whileDown?: () => Promise<void>): Promise<void> {
    await this.#stopAll();
    await whileDown?.();
    await this.start();
  }

  /** Takes the API server alone down: `stop` waits up to 5 s for open watches, `kill` for nothing. */
  async stopApiServer(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    await this.#end('kube-apiserver', how);
  }

  /** Brings the API server up again; `flags`, where given, replace the further flags for this and later starts. */
  async startApiServer(flags?: readonly string[]): Promise<void> {
    this.#flags = flags ?? this.#flags;
    const args = apiServerFlags(this.#ports, this.#paths, { auditLog: this.auditLogPath !== undefined });
    const server = await this.#start('kube-apiserver', [...args, ...this.#flags]);
    const login = { url: this.url, caFile: this.caFile, token: this.kubeconfigFor('controllers').token };
    const etcd = this.#processes.get('etcd');
    await waitUntilReady(() => isApiServerReady(login), etcd === undefined ? [server] : [etcd, server], this.#readySeconds);
  }

  /** SIGSTOP: connections stay open and nothing is answered. */
  pause(what: Pausable = 'api-server'): void {
    this.#processes.get(programOf(what))?.pause();
  }

  resume(what: Pausable = 'api-server'): void {
    this.#processes.get(programOf(what))?.resume();
  }

  /** The process ids by program, of what runs now. */
  get pids(): Readonly<Partial<Record<Program, number>>> {
    return Object.fromEntries([...this.#processes].filter(([, one]) => one.exit === undefined).map(([program, one]) => [program, one.pid]));
  }

  /** Removes etcd's data while everything is down: the next start is an empty cluster at the same address. */
  async removeData(): Promise<void> {
    await rm(this.etcdDataDir, { recursive: true, force: true });
  }

  get #readySeconds(): number {
    return this.#options.readySeconds ?? READY_SECONDS;
  }

  #kubeconfigPath(user: string): string {
    return join(this.dir, 'kubeconfigs', `${user}.yaml`);
  }

  #writeFiles(): void {
    writeServerFiles(this.#paths, this.token, this.#users);
    mkdirSync(join(this.dir, 'kubeconfigs'), { recursive: true });
    for (const { name } of this.#users) {
      writeFileSync(this.#kubeconfigPath(name), kubeconfigYaml(this, name, tokenOf(this.token, name)), { mode: 0o600 });
    }
  }

  async #startEtcd(): Promise<void> {
    const etcd = await this.#start('etcd', etcdFlags(this.#ports, this.#paths));
    // The API server waits for this: an etcd that lost its port to another control plane's would otherwise have it write there.
    await waitUntilReady(() => isEtcdReady(this.#ports.etcd), [etcd], this.#readySeconds);
  }

  async #start(program: Program, args: readonly string[]): Promise<ManagedProcess> {
    const running = this.#processes.get(program);
    if (running !== undefined && running.exit === undefined) return running;
    const started = await startProcess({
      name: `${program} of ${this.name}`,
      program: join(this.assetsDir, program),
      args,
      logPath: join(this.dir, `${program}.log`),
      cwd: this.dir,
    });
    this.#processes.set(program, started);
    return started;
  }

  async #stopAll(): Promise<void> {
    for (const program of ['kube-controller-manager', 'kube-apiserver', 'etcd'] as const) await this.#end(program, 'stop');
  }

  async #end(program: Program, how: 'stop' | 'kill'): Promise<void> {
    const running = this.#processes.get(program);
    await (how === 'stop' ? running?.stop() : running?.kill());
    this.#processes.delete(program);
  }
}

function programOf(what: Pausable): Program {
  switch (what) {
    case 'api-server':
      return 'kube-apiserver';
    case 'etcd':
      return 'etcd';
  }
}
