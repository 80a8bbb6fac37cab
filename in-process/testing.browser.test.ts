import { describeTesting } from './testing.contract.ts';

describeTesting();
