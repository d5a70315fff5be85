/** What an operator does to an installation as a whole: its first start, and a new administrator. */
export { seedFirstStart } from './first-start.ts';
export { resetAdmin, type NewAdmin } from './reset-admin.ts';
