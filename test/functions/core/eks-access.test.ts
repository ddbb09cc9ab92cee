import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eksAccess, eksOfPlugin } from '../../../functions/core/eks-access.ts';

describe('eksAccess', () => {
  it('names cluster, region, role and group; the ConfigMap has the ARN without its path', () => {
    const role = 'arn:aws:iam::111122223333:role/platform/eu/dogwatch';
    assert.deepEqual(eksAccess({ cluster: 'prod', region: 'eu-central-1', role }, 'dogwatch-reconcile'), {
      accessEntry:
        'aws eks create-access-entry --region eu-central-1 --cluster-name prod ' +
        `--principal-arn ${role} --kubernetes-groups dogwatch-reconcile`,
      mapRole:
        '- { rolearn: "arn:aws:iam::111122223333:role/dogwatch", ' +
        'username: "dogwatch-reconcile:{{SessionName}}", groups: [dogwatch-reconcile] }',
    });
  });

  it('leaves to the shell what the registry does not say', () => {
    const { accessEntry } = eksAccess({ cluster: 'prod', region: undefined, role: undefined }, 'dogwatch-watcher');
    assert.equal(
      accessEntry,
      'aws eks create-access-entry --cluster-name prod --principal-arn "$DOGWATCH_ROLE_ARN" --kubernetes-groups dogwatch-watcher',
    );
  });
});

describe('eksOfPlugin', () => {
  const rows: { name: string; command: string; args: string[]; expected: object | undefined }[] = [
    {
      name: 'the AWS CLI as `aws eks update-kubeconfig` writes it',
      command: 'aws',
      args: ['--region', 'eu-central-1', 'eks', 'get-token', '--cluster-name', 'prod', '--output', 'json', '--role-arn', 'arn:x'],
      expected: { cluster: 'prod', region: 'eu-central-1', role: 'arn:x' },
    },
    {
      name: 'options with an equals sign, by path',
      command: '/usr/local/bin/aws',
      args: ['eks', 'get-token', '--cluster-name=prod'],
      expected: { cluster: 'prod', region: undefined, role: undefined },
    },
    {
      name: 'aws-iam-authenticator',
      command: 'aws-iam-authenticator',
      args: ['token', '-i', 'prod', '-r', 'arn:x'],
      expected: { cluster: 'prod', region: undefined, role: 'arn:x' },
    },
    { name: 'another plugin', command: 'kubelogin', args: ['get-token', '--cluster-name', 'x'], expected: undefined },
    { name: 'another use of the AWS CLI', command: 'aws', args: ['sts', 'get-caller-identity'], expected: undefined },
    { name: 'one that names no cluster', command: 'aws', args: ['eks', 'get-token'], expected: undefined },
  ];
  for (const { name, command, args, expected } of rows) {
    it(`reads ${name}`, () => assert.deepEqual(eksOfPlugin({ command, args }), expected));
  }
});
