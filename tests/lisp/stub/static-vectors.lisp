;; What cl-binary-store takes from the library static-vectors, for SBCL alone: vectors whose memory stays in place.
(defpackage #:static-vectors (:use #:common-lisp) (:export #:with-static-vector #:static-vector-pointer))
(in-package #:static-vectors)

(defmacro with-static-vector ((vector length &rest options) &body body)
  (declare (ignore options))
  `(let ((,vector (make-array ,length :element-type '(unsigned-byte 8))))
     (sb-sys:with-pinned-objects (,vector) ,@body)))

(declaim (inline static-vector-pointer))
(defun static-vector-pointer (vector) (sb-sys:vector-sap vector))
