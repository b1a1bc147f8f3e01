import { render } from 'preact';
import { LocalPage } from './local-page.tsx';
import './style.css';

render(<LocalPage />, document.body);
