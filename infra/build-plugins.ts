/** What keeps the bundles small: parts of their dependencies that they never reach are left out while bundling. */
import { basename, join } from 'node:path';
import type { OnResolveArgs, OnResolveResult, Plugin } from 'esbuild';

/** Packages that only ways of talking to a cluster need which we do not go, with the names that are imported from them. */
const LEFT_OUT = {
  'openid-client': ['customFetch', 'discovery', 'refreshTokenGrant'],
  rfc4648: ['base64url'],
  'jsonpath-plus': ['JSONPath'],
  undici: ['Agent', 'ProxyAgent', 'fetch'],
  hpagent: ['HttpProxyAgent', 'HttpsProxyAgent'],
  socks: ['SocksClient'],
  'socks-proxy-agent': ['SocksProxyAgent'],
  'isomorphic-ws': ['default'],
} as const;

/**
 * Replaces packages that client-node imports and our own transport makes superfluous (1.3 MB of its 1.5 MB) with modules that
 * throw, and say what is missing, when anything of them is used. So in a bundle a kubeconfig cannot use OIDC, the old azure
 * and gcp providers, or a proxy. A name that is not listed is an error of the build.
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

/** What zod's schemas take from its maker of JSON schemas, each in a method that nothing in a bundle calls. */
const JSON_SCHEMA_NAMES = [
  'createStandardJSONSchemaMethod',
  'createToJSONSchemaMethod',
  'extractDefs',
  'finalize',
  'handleUnrepresentable',
  'initializeContext',
  'processSchema',
];

/** Replaces zod's maker of JSON schemas: CRDs are made on the command line, which is not bundled, and never in a function. */
export const leaveOutJsonSchemas: Plugin = {
  name: 'leave-out-json-schemas',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]to-json-schema\.js$/ }, () => ({
      contents: throwing('zod makes no JSON schemas in this bundle; make them on the command line', JSON_SCHEMA_NAMES),
    }));
  },
};

function throwingModule(name: string, exported: readonly string[]): string {
  const why = 'the kubeconfig wants OIDC, a legacy auth provider or a proxy; use a token, a client certificate or an exec plugin';
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

/**
 * Gives client-node's KubeConfig the two functions that it takes from the index of the generated client, and not the index: its 900
 * files of models and APIs are neither read nor bundled. Whoever imports the index otherwise gets all of it.
 */
export const keepOutGeneratedClient: Plugin = {
  name: 'keep-out-generated-client',
  setup(build) {
    build.onResolve({ filter: /^\.\/gen\/index\.js$/ }, ({ path, importer, resolveDir }) => {
      if (!importer.endsWith(join('client-node', 'dist', 'config.js'))) return undefined;
      return { path, namespace: 'slim-client', pluginData: join(resolveDir, 'gen') };
    });
    build.onLoad({ filter: /.*/, namespace: 'slim-client' }, ({ pluginData }) => ({
      contents: "export { createConfiguration } from './configuration.js'; export { ServerConfiguration } from './servers.js';",
      resolveDir: pluginData as string,
    }));
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
