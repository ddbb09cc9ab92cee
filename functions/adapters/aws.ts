/** What needs the AWS SDK to reach clusters: a file of its own in the bundle (dist/aws.cjs), loaded when one is reached in such a way. */
export { openEks } from './aws/eks.ts';
export { openStores } from './aws/stores.ts';
