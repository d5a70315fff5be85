/** Pages that the control plane renders itself. */
export { html, Html, nothing, withCode } from './html-template.ts';
