/** The entry of the browser program. */
import { createRoot } from 'react-dom/client';

createRoot(document.getElementById('root')!).render(<p>Frontdoor</p>);
