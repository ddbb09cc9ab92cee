/**
 * Ends the process with one clear line when Node is too old to run TypeScript files as they are. Plain JavaScript of
 * Node 14, since it must run where nothing else does; importing it makes the check.
 */

const OLDEST_MAJOR = 24;

/**
 * What is wrong with this version of Node, or undefined.
 *
 * @param {string} version  as in `process.versions.node`
 */
export function nodeProblem(version) {
  if (Number.parseInt(version, 10) >= OLDEST_MAJOR) return undefined;
  return `dogwatch needs Node ${OLDEST_MAJOR}; this is Node ${version}. Run it through npm (npm ci brings Node ${OLDEST_MAJOR}), not directly.`;
}

const problem = nodeProblem(process.versions.node);
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}
