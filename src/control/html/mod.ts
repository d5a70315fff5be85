/** Pages that the control plane renders itself. */
export { Html, html, nothing, withCode } from './html-template.ts';
