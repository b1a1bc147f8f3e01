import { render } from 'preact';
import { LocalPage } from './local-page.tsx';
import './style.css';
import './webhook-inbox.css';

render(<LocalPage />, document.body);
