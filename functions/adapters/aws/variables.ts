/**
 * Variables that the AWS SDK takes as they are, and that then fail every call with a word that names none of them
 * (`UnknownError`). What is wrong with one is told before a call.
 */
import type { Environment } from '../../core/config.ts';
import { ConfigError, cutText } from '../../core/errors.ts';

/** As AWS_ENDPOINT_URL_... has it. */
export type AwsService = 'SQS' | 'SSM' | 'SECRETS_MANAGER' | 'EKS' | 'STS' | 'LAMBDA';

/** The longest value that is shown, in characters. */
const SHOWN_MAX = 100;
const HOST_AND_PORT = /^[\w.-]+(:[0-9]+)?(\/\S*)?$/;
/** A region is a part of host names, also one of an emulator's own. */
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

/** Makes sure that the endpoint which calls of that service go to is an address. @throws ConfigError `aws-variable` */
export function checkAwsEndpoint(service: AwsService, environment: Environment = process.env): void {
  for (const variable of [`AWS_ENDPOINT_URL_${service}`, 'AWS_ENDPOINT_URL']) {
    const value = environment[variable];
    if (value === undefined || value === '') continue;
    if (/^https?:$/.test(URL.parse(value)?.protocol ?? '')) return;
    throw fault(variable, value, 'no http(s) address', HOST_AND_PORT.test(value) ? `http://${value}` : 'one such as http://localhost:4566');
  }
}

/** Makes sure that the region which the environment names, if it does, may be one. @throws ConfigError `aws-variable` */
export function checkAwsRegion(environment: Environment = process.env): void {
  const value = environment['AWS_REGION'];
  if (value !== undefined && value !== '' && !HOST_LABEL.test(value))
    throw fault('AWS_REGION', value, 'no region', 'one such as eu-west-1');
}

function fault(variable: string, value: string, what: string, remedy: string): ConfigError {
  const shown = JSON.stringify(cutText(value, SHOWN_MAX));
  return new ConfigError('aws-variable', `${variable} is ${shown}, which is ${what}; write ${remedy}`);
}
