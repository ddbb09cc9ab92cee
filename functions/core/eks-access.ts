/** How a role of AWS becomes a member of a group in an EKS cluster: what is called or written there, since no manifest can say it. */

/** An EKS cluster, and the role that a process comes with. */
export interface EksIdentity {
  readonly cluster: string;
  readonly region: string | undefined;
  /** ARN of the role that the registry names; undefined: the process comes with its own. */
  readonly role: string | undefined;
}

/** The two ways; a cluster's authentication mode says which it knows. */
export interface EksAccess {
  /** For `API` and `API_AND_CONFIG_MAP`: a command of the AWS CLI. */
  readonly accessEntry: string;
  /** For `CONFIG_MAP` and `API_AND_CONFIG_MAP`: an entry of `mapRoles` in the ConfigMap kube-system/aws-auth, as one line of YAML. */
  readonly mapRole: string;
}

/** What stands for an ARN that only whoever deploys knows; the shell that runs the command has it. */
export const ROLE_VARIABLE = '$DOGWATCH_ROLE_ARN';

/**
 * Both ways of making the role a member of `group`.
 *
 * The ConfigMap wants the ARN without its path, which roles made by a service or a tool often have, and the access entry wants it whole.
 * @see EKS user guide, "Grant IAM users access to Kubernetes with a ConfigMap"
 */
export function eksAccess({ cluster, region, role }: EksIdentity, group: string): EksAccess {
  const arn = role ?? `"${ROLE_VARIABLE}"`;
  const words = [
    'aws eks create-access-entry',
    ...(region === undefined ? [] : [`--region ${region}`]),
    `--cluster-name ${cluster}`,
    `--principal-arn ${arn}`,
    `--kubernetes-groups ${group}`,
  ];
  const mapped = role?.replace(/:role\/.*\//, ':role/') ?? ROLE_VARIABLE;
  return {
    accessEntry: words.join(' '),
    mapRole: `- { rolearn: ${JSON.stringify(mapped)}, username: ${JSON.stringify(`${group}:{{SessionName}}`)}, groups: [${group}] }`,
  };
}

/** The EKS cluster that a credential plugin asks a token for: `aws eks get-token`, or `aws-iam-authenticator token`. */
export function eksOfPlugin({ command, args }: { readonly command: string; readonly args: readonly string[] }): EksIdentity | undefined {
  const program = command.split(/[\\/]/).at(-1);
  const isAws = program === 'aws' && args.includes('get-token');
  if (!isAws && !(program === 'aws-iam-authenticator' && args.includes('token'))) return undefined;
  const cluster = optionOf(args, isAws ? ['--cluster-name', '--cluster-id'] : ['-i', '--cluster-id']);
  if (cluster === undefined) return undefined;
  return { cluster, region: optionOf(args, ['--region']), role: optionOf(args, isAws ? ['--role-arn'] : ['-r', '--role']) };
}

/** The value of the first of these options, written as `--name value` or `--name=value`. */
function optionOf(args: readonly string[], names: readonly string[]): string | undefined {
  for (const [at, word] of args.entries()) {
    const [name = '', value] = word.split(/=(.*)/s);
    if (names.includes(name)) return value ?? args[at + 1];
  }
  return undefined;
}
