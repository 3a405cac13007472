export { mainColour } from './colour';
export { frameSize } from './frameSize';
export { decodeImage } from './image';
export { drawPicture, type PictureSpec } from './picture';
export { Renderer } from './renderer';
export { repaint } from './repaint';
export type { ReferenceMedia, RenderSpec, Size } from './spec';
