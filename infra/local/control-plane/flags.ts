/** The flags of the three servers. All of them serve on loopback only. */

export interface ControlPlanePorts {
  /** HTTPS, the API server. */
  readonly api: number;
  /** Plain HTTP, etcd's clients; also its JSON gateway: `/v3/kv/...`, `/v3/maintenance/...`. */
  readonly etcd: number;
  /** Plain HTTP, etcd's peers, of which there are none. */
  readonly etcdPeer: number;
}

/** Where things are in the state folder, as absolute paths. */
export interface ControlPlanePaths {
  readonly etcdData: string;
  readonly certs: string;
  readonly serviceAccountKey: string;
  readonly tokens: string;
  readonly auditPolicy: string;
  readonly auditLog: string;
}

export function etcdFlags(ports: ControlPlanePorts, paths: ControlPlanePaths): string[] {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${paths.etcdData}`,
    '--log-level=error',
    '--unsafe-no-fsync',
    // etcd's default is 10 minutes; kubeadm sets 5 s. Without it a quiet kind gets no bookmarks for minutes.
    '--watch-progress-notify-interval=5s',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
}

export function apiServerFlags(ports: ControlPlanePorts, paths: ControlPlanePaths, options: { auditLog: boolean }): string[] {
  const flags = [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--secure-port=${ports.api}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // It makes its own certificate there, valid for 127.0.0.1; the file serves as the CA too.
    `--cert-dir=${paths.certs}`,
    `--service-account-key-file=${paths.serviceAccountKey}`,
    `--service-account-signing-key-file=${paths.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--token-auth-file=${paths.tokens}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    // Nothing here makes default service accounts, so this plugin would refuse every pod.
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged',
  ];
  if (!options.auditLog) return flags;
  // One file, never rotated (the size is in MB), written before the answer goes out: whoever has the answer finds the line.
  return [
    ...flags,
    `--audit-policy-file=${paths.auditPolicy}`,
    `--audit-log-path=${paths.auditLog}`,
    '--audit-log-mode=blocking',
    '--audit-log-maxsize=1000000',
  ];
}

export function controllerFlags(kubeconfigPath: string): string[] {
  return [
    `--kubeconfig=${kubeconfigPath}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--controllers=garbage-collector-controller,namespace-controller,resourcequota-controller',
  ];
}
