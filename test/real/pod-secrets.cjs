/**
 * Loaded before the watcher's bundle: the folder in which a pod finds its service account is `POD_SECRETS` instead, since only root
 * could make the real one, and for the whole machine.
 */
const fs = require('node:fs');

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

for (const name of ['readFileSync', 'existsSync', 'accessSync', 'statSync']) {
  const real = fs[name];
  fs[name] = (path, ...rest) =>
    real(typeof path === 'string' && path.startsWith(FOLDER) ? process.env.POD_SECRETS + path.slice(FOLDER.length) : path, ...rest);
}
