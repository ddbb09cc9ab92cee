/** What keeps the bundles small: parts of their dependencies that they never reach are left out while bundling. */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OnResolveArgs, OnResolveResult, Plugin, ResolveResult } from 'esbuild';

/** Packages that only ways of talking to a cluster need which we do not go, with the names that are imported from them. */
const LEFT_OUT = {
  undici: ['Agent', 'ProxyAgent', 'fetch'],
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  socks: ['SocksClient'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  'isomorphic-ws': ['default'],
} as const;

/**
 * Replaces packages that client-node imports and our own transport makes superfluous (1.3 MB of its 1.5 MB) with modules that
 * throw, and say what is missing, when anything of them is used. So in a bundle a kubeconfig cannot use a proxy. A name that is
 * not listed is an error of the build.
 */
export const leaveOutUnusedClients: Plugin = {
  name: 'leave-out-unused-clients',
  setup(build) {
    const packages = Object.keys(LEFT_OUT).join('|');
    build.onResolve({ filter: new RegExp(`^(${packages})$`) }, ({ path }) => ({ path, namespace: 'left-out' }));
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: throwingModule(path, LEFT_OUT[path as keyof typeof LEFT_OUT]),
    }));
  },
};

/** The end of the path of the one module of client-node that is used. */
const CLIENT_NODE_CONFIG = join('client-node', 'dist', 'config.js');

/** client-node's own ways to credentials, each a module of its own beside its KubeConfig. */
const LOGIN_CLASSES = {
  azure_auth: 'AzureAuth',
  exec_auth: 'ExecAuth',
  file_auth: 'FileAuth',
  gcp_auth: 'GoogleCloudPlatformAuth',
  oidc_auth: 'OpenIDConnectAuth',
} as const;

/**
 * Replaces them with one class that knows nobody: our kubeconfig adapter reads tokens and runs plugins itself, and refuses what else
 * there is before client-node sees it. Should a user of theirs get as far as that, the class throws: it must not be sent unnamed.
 */
export const leaveOutLogins: Plugin = {
  name: 'leave-out-logins',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^\\./(${Object.keys(LOGIN_CLASSES).join('|')})\\.js$`) }, ({ importer }) =>
      importer.endsWith(CLIENT_NODE_CONFIG) ? { path: 'logins', namespace: 'left-out-logins' } : undefined,
    );
    const why = 'client-node logs nobody in here; use a token, a client certificate or an exec plugin';
    build.onLoad({ filter: /.*/, namespace: 'left-out-logins' }, () => ({
      contents: [
        'class Login { isAuthProvider(user) {',
        `if (user.authProvider || user.exec) throw new Error(${JSON.stringify(why)}); return false; } }`,
        `export { ${Object.values(LOGIN_CLASSES).map((as) => `Login as ${as}`)} };`,
      ].join('\n'),
    }));
  },
};

/** Replaces zod's maker of JSON schemas: CRDs are made on the command line, which is not bundled, and never in a function. */
export const leaveOutJsonSchemas: Plugin = {
  name: 'leave-out-json-schemas',
  setup(build) {
    const text = 'zod makes no JSON schemas in this bundle; make them on the command line';
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](to-json-schema|json-schema-processors)\.js$/ }, async ({ path }) => ({
      contents: throwing(text, Object.keys(await import(pathToFileURL(path).href))),
    }));
  },
};

/** A statement `var NAME = VALUE;` in the first column, to the end of its last line. */
const CONSTANT = /^var (\w+) = ([\s\S]*?);\n(?=[\w/])/gm;

/**
 * Lets esbuild leave out what only `dump` and the schema of YAML 1.1 use, a quarter of js-yaml. It keeps every constant whose
 * initializer calls, spreads or concatenates, because that might do something else too; none of js-yaml's does, so each is marked
 * as pure here. The file is a build of theirs, in which only the lines that begin a statement begin in the first column.
 */
export const leaveOutUnusedYaml: Plugin = {
  name: 'leave-out-unused-yaml',
  setup(build) {
    build.onLoad({ filter: /[\\/]js-yaml[\\/]dist[\\/]js-yaml\.mjs$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(CONSTANT, 'var $1 = /* @__PURE__ */ (() => ($2))();\n'),
    }));
  },
};

function throwingModule(name: string, exported: readonly string[]): string {
  const why = 'the kubeconfig wants a proxy; give a server address that can be reached directly';
  return throwing(`${name} is not part of this bundle: ${why}`, exported);
}

function throwing(text: string, exported: readonly string[]): string {
  return [
    // A function expression: what replaces a class has to be constructible.
    `const fail = function () { throw new Error(${JSON.stringify(text)}); };`,
    'const absent = new Proxy(fail, { get: fail, apply: fail, construct: fail });',
    `export { ${exported.map((as) => `absent as ${as}`).join(', ')} };`,
  ].join('\n');
}

/** What KubeConfig takes from modules that only methods need which we do not call. */
const UNUSED_BY_US = {
  './gen/index.js': ['createConfiguration', 'ServerConfiguration'],
  './config_types.js': ['exportCluster', 'exportContext', 'exportUser', 'newClusters', 'newContexts', 'newUsers'],
} as const;

/**
 * Keeps out of client-node's KubeConfig the generated client, 900 files of models and APIs, which its `makeApiClient` needs, the
 * reading of files, which is ours, and the package.json, by whose version it names itself. Whoever imports the index of the
 * generated client otherwise gets all of it.
 */
export const keepOutGeneratedClient: Plugin = {
  name: 'keep-out-generated-client',
  setup(build) {
    build.onResolve({ filter: /^(\.\/gen\/index\.js|\.\/config_types\.js|\.\.\/package\.json)$/ }, ({ path, importer }) =>
      importer.endsWith(CLIENT_NODE_CONFIG) ? { path, namespace: 'slim-client' } : undefined,
    );
    const text = 'this part of client-node is not part of this bundle; use functions/adapters/kubernetes';
    build.onLoad({ filter: /\.js$/, namespace: 'slim-client' }, ({ path }) => ({
      contents: throwing(text, UNUSED_BY_US[path as keyof typeof UNUSED_BY_US]),
    }));
    build.onLoad({ filter: /package\.json$/, namespace: 'slim-client' }, () => ({ contents: '{}', loader: 'json' }));
  },
};

/**
 * Makes one module of ours a file beside the bundle, which `import()` loads when it first runs: esbuild writes
 * `Promise.resolve().then(() => require("./sqs.cjs"))`.
 *
 * @param file     absolute path of the module
 * @param outFile  its name in the output folder
 */
export function loadFromFileBeside(file: string, outFile: string): Plugin {
  return resolveModule('load-from-file-beside', file, ({ kind, path }) => {
    if (kind === 'dynamic-import') return { path: `./${outFile}`, external: true };
    return { errors: [{ text: `${path} is loaded when first needed: write import('${path}') where it is used` }] };
  });
}

/** A package that is a file of its own beside the bundle: its entry point and that file's name. */
export interface PackageBeside {
  readonly entry: string;
  readonly outFile: string;
}

/**
 * Makes every package that code of ours loads by `import('package')` a file of its own beside the bundle, which is read when that
 * first runs: `import('@aws-sdk/client-sqs')` loads `./@aws-sdk+client-sqs.cjs`. What was found is put into `found`, by the name that
 * is imported.
 */
export function loadPackagesFromBeside(found: Map<string, PackageBeside>): Plugin {
  return resolvePackages('load-packages-from-beside', async (args, resolve) => {
    if (args.kind !== 'dynamic-import' || args.importer.includes('node_modules')) return undefined;
    const { path: entry, errors } = await resolve();
    if (errors.length > 0) return { errors };
    // One name for one package: no name of a package has a plus in it.
    const outFile = `${args.path.replaceAll('/', '+')}.cjs`;
    found.set(args.path, { entry, outFile });
    return { path: `./${outFile}`, external: true };
  });
}

/** Lets a file beside the bundle share those packages, so that a process which needs both does not load one twice. */
export function sharePackagesBeside(found: ReadonlyMap<string, PackageBeside>): Plugin {
  return resolvePackages('share-packages-beside', async ({ path }) => {
    const beside = found.get(path);
    return beside && { path: `./${beside.outFile}`, external: true };
  });
}

type Resolve = () => Promise<ResolveResult>;

/** Asks `answer` for every import of a package. */
function resolvePackages(name: string, answer: (args: OnResolveArgs, resolve: Resolve) => Promise<OnResolveResult | undefined>): Plugin {
  const isResolving = Symbol(name);
  return {
    name,
    setup(build) {
      build.onResolve({ filter: /^[@a-z]/i }, (args) => {
        if (args.pluginData === isResolving || args.kind === 'entry-point' || isBuiltin(args.path)) return undefined;
        const { path, importer, kind, namespace, resolveDir } = args;
        return answer(args, () => build.resolve(path, { importer, kind, namespace, resolveDir, pluginData: isResolving }));
      });
    },
  };
}

/** Resolves one module of ours to another file. Both are absolute paths. */
export function replaceModule(file: string, by: string): Plugin {
  return resolveModule('replace-module', file, () => ({ path: by }));
}

/** Asks `answer` for every import that means `file`, save for entry points. */
function resolveModule(name: string, file: string, answer: (args: OnResolveArgs) => OnResolveResult): Plugin {
  const isResolving = Symbol(name);
  return {
    name,
    setup(build) {
      build.onResolve({ filter: new RegExp(`${basename(file).replaceAll('.', '\\.')}$`) }, async (args) => {
        if (args.pluginData === isResolving || args.kind === 'entry-point') return undefined;
        const { path, importer, kind, namespace, resolveDir } = args;
        const resolved = await build.resolve(path, { importer, kind, namespace, resolveDir, pluginData: isResolving });
        return resolved.path === file ? answer(args) : undefined;
      });
    },
  };
}
