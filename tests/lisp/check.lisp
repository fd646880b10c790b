;; Stores the values of values.lisp, and compares with them what was written of these files elsewhere.
(require :asdf)
(push (truename (directory-namestring *load-truename*)) asdf:*central-registry*)
(unless (asdf:find-system :static-vectors nil)
  (push (merge-pathnames "stub/" (truename (directory-namestring *load-truename*))) asdf:*central-registry*))
(let ((library (sb-ext:posix-getenv "CL_BINARY_STORE")))
  (when library (push (truename (concatenate 'string library "/")) asdf:*central-registry*)))
(handler-bind ((warning #'muffle-warning))
  (let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
    (asdf:load-system :cl-binary-store)))
(load (merge-pathnames "values.lisp" *load-truename*))
(in-package #:samples)

(defun name-of (name tracks extension)
  (format nil "~a/~(~a~)-~:[notrack~;track~].~a" (second sb-ext:*posix-argv*) name tracks extension))

(defun read-octets (file)
  (with-open-file (in file :element-type '(unsigned-byte 8))
    (let ((octets (make-array (file-length in) :element-type '(unsigned-byte 8))))
      (read-sequence octets in)
      octets)))

;; Lists with shared tails, and cycles, need references.
(defun stored-p (entry tracks)
  (or tracks (not (or (third entry) (member (first entry) '(:circular :cars :uninterned))))))

(defun store-all ()
  (dolist (entry *values*)
    (destructuring-bind (name value &optional tails) entry
      (dolist (tracks '(t nil))
        (when (stored-p entry tracks)
          (let ((cl-binary-store:*track-references* tracks) (cl-binary-store:*support-shared-list-structures* tails))
            (with-open-file (out (name-of name tracks "bin") :direction :output :if-exists :supersede
                                                             :element-type '(unsigned-byte 8))
              (write-sequence (cl-binary-store:store nil value) out))))))))

;; Whether two graphs are the same: values, types, and with references what is one object.
(defun same (one two tracks)
  (let ((known (make-hash-table :test 'eq)) (stack (list (cons one two))))
    (loop while stack do
      (destructuring-bind (a . b) (pop stack)
        (flet ((differ () (return-from same nil)))
          (cond
            ((numberp a) (unless (and (numberp b) (= a b)) (differ)))
            ((or (characterp a) (pathnamep a)) (unless (equal a b) (differ)))
            ((symbolp a)
             (unless (if (or (symbol-package a) (null a))
                         (eq a b)
                         (and (symbolp b) (not (symbol-package b)) (string= a b) (eq b (setf (gethash a known) (gethash a known b)))))
               (differ)))
            ((gethash a known) (unless (or (not tracks) (eq b (gethash a known))) (differ)))
            (t
             (when tracks (setf (gethash a known) b))
             (typecase a
               (string (unless (and (stringp b) (string= a b)) (differ)))
               (cons (unless (consp b) (differ))
                (push (cons (cdr a) (cdr b)) stack)
                (push (cons (car a) (car b)) stack))
               (array
                (unless (and (arrayp b) (equal (array-dimensions a) (array-dimensions b))
                             (eq (array-has-fill-pointer-p a) (array-has-fill-pointer-p b)))
                  (differ))
                (dotimes (at (array-total-size a)) (push (cons (row-major-aref a at) (row-major-aref b at)) stack)))
               (hash-table
                (unless (and (hash-table-p b) (= (hash-table-count a) (hash-table-count b)) (eq (hash-table-test a) (hash-table-test b)))
                  (differ))
                (maphash (lambda (key value)
                           (multiple-value-bind (found there) (gethash key b)
                             (unless there (return-from same nil))
                             (push (cons value found) stack)))
                         a))
               (t
                (unless (eq (type-of a) (type-of b)) (differ))
                (dolist (slot (sb-mop:class-slots (class-of a)))
                  (let ((name (sb-mop:slot-definition-name slot)))
                    (unless (eq (slot-boundp a name) (slot-boundp b name)) (differ))
                    (when (slot-boundp a name) (push (cons (slot-value a name) (slot-value b name)) stack)))))))))))
    t))

(defun compare-all ()
  (let ((failed 0) (compared 0))
    (dolist (entry *values*)
      (dolist (tracks '(t nil))
        (when (stored-p entry tracks)
          (dolist (extension '("again" "conses"))
            (incf compared)
            (let ((outcome (handler-case
                               (same (second entry) (cl-binary-store:restore (read-octets (name-of (first entry) tracks extension)))
                                     tracks)
                             (error (error) (format nil "~a" error)))))
              (unless (eq outcome t)
                (incf failed)
                (format t "~(~a~), ~a, ~:[without~;with~] references: ~:[another value~;~:*~a~]~%"
                        (first entry) extension tracks outcome)))))))
    (format t "~d of ~d values are restored by Lisp as they were~%" (- compared failed) compared)
    (sb-ext:exit :code (if (zerop failed) 0 1))))

(setf *random-state* (sb-ext:seed-random-state 1))
(if (string= (third sb-ext:*posix-argv*) "store") (store-all) (compare-all))
