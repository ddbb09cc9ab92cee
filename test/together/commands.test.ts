import { gather } from './gather.ts';
import { GROUPS, ROOT, testFiles } from './groups.ts';

gather(ROOT, testFiles(GROUPS.commands));
