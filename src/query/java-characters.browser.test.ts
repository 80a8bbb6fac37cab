/** Browsers change and classify characters as a hub does. */
import './java-characters.test.ts';
