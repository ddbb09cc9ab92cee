/**
 * A Kubernetes API server in this process, on loopback: a development double, not a cluster. It speaks the wire protocol
 * as far as differences.md says and keeps everything in memory.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { selfSigned } from '../certificates.ts';
import { ClusterState } from './cluster-state.ts';
import { type RequestFault, RequestFaults } from './faults.ts';
import type { Snapshot } from './object-store.ts';
import { handleRequest } from './request-handler.ts';
import type { ServedWrite } from './served-write.ts';

export interface ApiServerOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Default: random. */
  readonly token?: string;
  /** HTTPS with a certificate of its own. kubectl sends no token without. Default: true. */
  readonly tls?: boolean;
  /** Default: the wall clock. Timers are those of Node. */
  readonly now?: () => Date;
  /** How often a watch hears of versions without events. Default: 60. */
  readonly bookmarkSeconds?: number;
  /** Deletes what its owners left behind. Default: true. */
  readonly collectsGarbage?: boolean;
  /** The state to begin with. */
  readonly from?: Snapshot;
  /** Told of faults of the server itself. Default: a line on stderr. */
  readonly onError?: (error: unknown) => void;
  /** Told of each write that a request asked for, also of one that was refused. */
  readonly onWrite?: (write: ServedWrite) => void;
}

/** A running server. */
export interface ApiServer {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  /** The certificate to trust, PEM; undefined without TLS. */
  readonly ca: string | undefined;
  /** The text of a kubeconfig with one context of the given name. */
  kubeconfig(name?: string): string;
  readonly faults: ServerFaults;
  /** The state of this moment, for `restart` or another server. */
  snapshot(): Snapshot;
  /** The newest version of anything that is stored. */
  readonly revision: number;
  /** True while work that follows a write is yet to be done: the collection of garbage, the end of a namespace. */
  readonly isBusy: boolean;
  /**
   * Tells all watches with bookmarks how far the server is, where they do not know. The version that they have been told then;
   * undefined where nothing can be told, because they are stalled or the server is down.
   */
  progress(): number | undefined;
  /** Breaks all connections and refuses new ones, until `up`. */
  down(): Promise<void>;
  /** Serves again, on the same port: the same state, or an older one as after a restore. Old watch positions are void. */
  up(options?: { readonly from?: Snapshot }): Promise<void>;
  restart(options?: { readonly from?: Snapshot }): Promise<void>;
  /** Ends everything. */
  stop(): Promise<void>;
}

interface ServerFaults {
  /** Arms a fault of requests; the returned function lifts it. */
  add(fault: RequestFault): () => void;
  /** Positions from before now are answered with 410, continue tokens too. Open watches go on. */
  expireHistory(): void;
  /** Ends all watches, cleanly or by breaking their connections. */
  dropWatches(how: 'end' | 'reset'): void;
  /** All watches, also new ones, are silent until the returned function is called; they then catch up. */
  stallWatches(): () => void;
  /** Reads at a version, and watches, see nothing newer than now until the returned function is called. */
  holdCache(): () => void;
  /** Lifts all faults of requests. */
  clear(): void;
}

/** Starts a server and resolves when it answers. @throws the error of `listen`, such as EADDRINUSE for a port in use */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const token = options.token ?? randomBytes(16).toString('hex');
  const certificate = (options.tls ?? true) ? selfSigned(['127.0.0.1', 'localhost']) : undefined;
  const faults = new RequestFaults();
  const sockets = new Set<Socket>();
  let stalls = 0;
  const stateFrom = (from?: Snapshot): ClusterState =>
    new ClusterState({
      now: options.now ?? (() => new Date()),
      uid: randomUUID,
      suffix: () => randomBytes(4).toString('hex').slice(0, 5),
      collectsGarbage: options.collectsGarbage ?? true,
      onError: options.onError ?? ((error) => process.stderr.write(`embedded API server: ${String(error)}\n`)),
      onWrite: options.onWrite,
      ...(from === undefined ? {} : { from }),
    });
  let state = stateFrom(options.from);
  let port = options.port ?? 0;
  let address = '';
  const watchDefaults = { bookmarkSeconds: options.bookmarkSeconds ?? 60, isStalled: () => stalls > 0 };
  const listener = (request: IncomingMessage, response: ServerResponse): void =>
    void handleRequest({ state, token, address, faults, watchDefaults }, request, response);
  const create = () => (certificate === undefined ? createHttpServer(listener) : createHttpsServer(certificate, listener));
  let server = create();

  async function listen(): Promise<void> {
    server = create();
    // Clients keep idle connections for minutes, and the real server lets them.
    server.keepAliveTimeout = 180_000;
    server.on('connection', track); // from the first byte: one in the middle of its handshake would hold `down` for two minutes
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    port = (server.address() as AddressInfo).port;
    address = `127.0.0.1:${port}`;
  }

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  }

  async function down(): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const watch of [...state.watches]) watch.reset();
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await closed;
    state.stop();
  }

  async function up({ from = state.store.snapshot() }: { readonly from?: Snapshot } = {}): Promise<void> {
    state = stateFrom(from);
    await listen();
  }

  await listen();
  const url = `${certificate === undefined ? 'http' : 'https'}://${address}`;
  return {
    url,
    port,
    token,
    ca: certificate?.cert,
    kubeconfig: (name = 'embedded') => kubeconfigOf(name, url, token, certificate?.cert),
    get revision() {
      return state.store.revision;
    },
    get isBusy() {
      return state.isBusy;
    },
    progress() {
      if (stalls > 0 || !server.listening) return undefined;
      for (const watch of state.watches) watch.progress();
      return state.store.cacheRevision;
    },
    snapshot: () => state.store.snapshot(),
    down,
    up,
    restart: async (restartOptions) => {
      await down();
      await up(restartOptions);
    },
    stop: down,
    faults: {
      add: (fault) => faults.add(fault),
      clear: () => faults.clear(),
      expireHistory() {
        state.store.compact();
        state.store.expireWatches();
      },
      dropWatches(how) {
        for (const watch of [...state.watches]) watch[how]();
      },
      stallWatches() {
        stalls += 1;
        for (const watch of state.watches) watch.stall();
        return once(() => {
          stalls -= 1;
          if (stalls === 0) for (const watch of state.watches) watch.resume();
        });
      },
      holdCache: () => state.store.holdCache(),
    },
  };
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) run();
    isDone = true;
  };
}

function kubeconfigOf(name: string, server: string, token: string, ca: string | undefined): string {
  const cluster = { server, ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    users: [{ name, user: { token } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
